package dev.culvert.platform.directory.store;

/**
 * A person, or a program that acts like one, of one account.
 *
 * @param email unique in the account
 * @param admin may do all in the account
 * @param operator may also make accounts and do all in each of them
 */
public record User(String id, String account, String name, String email, boolean admin, boolean operator) {}
