#!/usr/bin/env bash
# Two hosts on one machine: network namespaces with host names of their own, joined by a link shaped to 1 Gbit/s.
# 2 x 2 ranks run over it, and the calibration must find two tiers of which the outer one is that link.
# usage: two_hosts_test.sh PROGRAM        (needs root; exit 77: skipped)
set -euo pipefail
program=$(realpath "$1")

skip() { echo "SKIPPED: $1"; exit 77; }
[[ $(id -u) == 0 ]] || skip "needs root for network namespaces"
command -v ip tc unshare > /dev/null || skip "needs iproute2 and util-linux"

name="cb$$"
work=$(mktemp -d)
cleanup() {
  for host in 1 2; do
    ip netns pids "$name-$host" 2> /dev/null | xargs -r kill -9 || true
    ip netns del "$name-$host" 2> /dev/null || true
    rm -rf "/etc/netns/$name-$host"
  done
  rm -rf "$work"
}
trap cleanup EXIT
ip netns add "$name-1" 2> /dev/null || skip "this kernel or sandbox allows no network namespaces"
ip netns add "$name-2"
ip link add eth0 netns "$name-1" type veth peer name eth0 netns "$name-2"
for host in 1 2; do
  mkdir -p "/etc/netns/$name-$host"
  printf '127.0.0.1 localhost\n10.93.7.1 %s-1\n10.93.7.2 %s-2\n' "$name" "$name" > "/etc/netns/$name-$host/hosts"
  ip -n "$name-$host" link set lo up
  ip -n "$name-$host" address add "10.93.7.$host/24" dev eth0
  ip -n "$name-$host" link set eth0 up
  ip netns exec "$name-$host" tc qdisc add dev eth0 root tbf rate 1gbit burst 512k latency 50ms ||
    skip "no tbf in this kernel"
done

# What mpirun uses instead of ssh: HOST COMMAND...
cat > "$work/agent" << 'EOF'
#!/usr/bin/env bash
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
EOF
chmod +x "$work/agent"
printf '%s-1 slots=2\n%s-2 slots=2\n' "$name" "$name" > "$work/hosts"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
timeout 100 ip netns exec "$name-1" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$name-1" \
  mpirun --hostfile "$work/hosts" -np 4 --bind-to none --mca plm_rsh_agent "$work/agent" --mca mpi_yield_when_idle 1 \
  --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 --mca btl tcp,self,vader \
  "$program" --ops all_reduce --sizes 1K,1M --passes 1 -n 3 -J "$work/run.json" < /dev/null

python3 - "$work/run.json" "$name" << 'EOF'
import json, sys
run = json.load(open(sys.argv[1]))
name = sys.argv[2]
assert [rank["host"] for rank in run["ranks"]] == [f"{name}-1", f"{name}-1", f"{name}-2", f"{name}-2"], run["ranks"]
assert [rank["node"] for rank in run["ranks"]] == [0, 0, 1, 1], run["ranks"]
inter = run["calibration"]["inter"]
assert run["calibration"]["intra"]["bytes_per_second"] > inter["bytes_per_second"], run["calibration"]
# 1 Gbit/s is 0.125 GB/s; more can only be the bucket's burst.
assert 0.02e9 < inter["bytes_per_second"] < 0.2e9, inter
assert all(row["wrong_elements"] == 0 and row["ring_seconds"] > 0 for row in run["rows"])
print(f"two tiers: {inter['alpha_seconds'] * 1e6:.0f} us and {inter['bytes_per_second'] / 1e9:.3f} GB/s between hosts")
EOF
