#include <gtest/gtest.h>

#include <reprise/sandbox/account_list.hpp>

namespace reprise::sandbox {

TEST(account_list, a_user_of_the_same_name_is_replaced) {
    account_list all;
    all.put_user({.name = "app", .password = "old"});
    all.put_user({.name = "app", .password = "new"});
    EXPECT_EQ(all.users(), (std::vector<std::string>{"app"}));
    EXPECT_EQ(all.find_user("app")->password, "new");
    EXPECT_EQ(all.find_user("other"), nullptr);
}

TEST(account_list, a_replaced_user_has_no_credentials_of_the_old_password) {
    account_list all;
    all.put_user({.name = "app", .password = "old"});
    all.find("app")->scram[wire::sasl_mechanism::scram_sha1];
    all.put_user({.name = "app", .password = "new"});
    EXPECT_TRUE(all.find("app")->scram.empty());
}

TEST(account_list, changes_of_rights_are_counted) {
    account_list all;
    all.put_user({.name = "app"});
    const auto before = all.generation();
    all.put_group({.name = "readers"});
    EXPECT_GT(all.generation(), before);
    EXPECT_NE(all.find_group("readers"), nullptr);
    EXPECT_TRUE(all.drop_group("readers"));
    EXPECT_GT(all.generation(), before + 1);
    EXPECT_TRUE(all.groups().empty());
}

TEST(account_list, unknown_names_are_not_dropped) {
    account_list all;
    EXPECT_EQ(all.drop_user("app").error(), cluster_errc::unknown_user);
    EXPECT_EQ(all.drop_group("readers").error(), cluster_errc::unknown_group);
}

}  // namespace reprise::sandbox
