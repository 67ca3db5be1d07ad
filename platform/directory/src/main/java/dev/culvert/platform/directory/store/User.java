package dev.culvert.platform.directory.store;

/**
 * A person or program in one account.
 *
 * @param email unique in the account
 * @param admin may do anything in the account
 * @param operator may also create accounts, and do anything in each of them
 */
public record User(String id, String account, String name, String email, boolean admin, boolean operator) {}
