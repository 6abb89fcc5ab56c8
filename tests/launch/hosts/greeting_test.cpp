#include "launch/hosts/greeting.hpp"

#include <gtest/gtest.h>

namespace collbench::launch::greeting_test {
namespace {

const NetworkAddress kListener{"10.0.0.1", 40};

TEST(RandomWord, IsLongAndNeverTheSame) {
  EXPECT_EQ(random_word().size(), kRandomWordLength);
  EXPECT_NE(random_word(), random_word());
}

TEST(Greeting, SaysWhatTheConnectionIsForToTheListenerThatAskedAndToNoOther) {
  const std::string secret = random_word();
  const std::string challenge = new_challenge();
  EXPECT_EQ(challenge.size(), kChallengeBytes);
  for (const Purpose purpose : {Purpose::question, Purpose::heartbeat}) {
    std::string text = greeting(secret, purpose, kListener, challenge);
    EXPECT_EQ(text.size(), kGreetingBytes);
    EXPECT_EQ(purpose_of(text, secret, kListener, challenge), purpose);
    EXPECT_NE(text, greeting(secret, purpose, kListener, challenge));
    EXPECT_EQ(purpose_of(text, random_word(), kListener, challenge), std::nullopt);
    EXPECT_EQ(purpose_of(text, secret, kListener, new_challenge()), std::nullopt);
    EXPECT_EQ(purpose_of(text, secret, {"10.0.0.2", 40}, challenge), std::nullopt);
    EXPECT_EQ(purpose_of(text, secret, {"10.0.0.1", 41}, challenge), std::nullopt);
    text.replace(0, 5, purpose == Purpose::question ? "beat " : "asks ");
    EXPECT_EQ(purpose_of(text, secret, kListener, challenge), std::nullopt);
  }
  EXPECT_EQ(purpose_of("", secret, kListener, challenge), std::nullopt);
}

TEST(AnswerProof, IsOfThisSecretThisConnectionAndThisAnswer) {
  const std::string secret = random_word();
  const std::string challenge = new_challenge();
  const std::string asked = greeting(secret, Purpose::question, kListener, challenge);
  const std::string proof = answer_proof(secret, challenge, asked, "yes");
  EXPECT_EQ(proof.size(), kRandomWordLength);
  EXPECT_EQ(proof, answer_proof(secret, challenge, asked, "yes"));
  EXPECT_NE(proof, answer_proof(secret, challenge, asked, "no"));
  EXPECT_NE(proof, answer_proof(random_word(), challenge, asked, "yes"));
  EXPECT_NE(proof, answer_proof(secret, challenge, greeting(secret, Purpose::question, kListener, challenge),
                                "yes"));
}

TEST(EqualProofs, OfAllBytesAndTheirNumber) {
  EXPECT_TRUE(equal_proofs("abc", "abc"));
  EXPECT_FALSE(equal_proofs("abc", "abd"));
  EXPECT_FALSE(equal_proofs("abc", "xbc"));
  EXPECT_FALSE(equal_proofs("abc", "ab"));
}

}  // namespace
}  // namespace collbench::launch::greeting_test
