package dev.culvert.platform.directory.store;

/**
 * A customer.
 *
 * @param id 24 hexadecimal digits
 * @param name unique among accounts
 */
public record Account(String id, String name) {}
