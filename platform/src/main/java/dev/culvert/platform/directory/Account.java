package dev.culvert.platform.directory;

/**
 * A customer.
 *
 * @param id 24 hexadecimal digits
 * @param name unique among accounts
 */
record Account(String id, String name) {}
