package dev.culvert.server.page;

/**
 * A limit of a runtime.
 *
 * @param key its name
 * @param own the runtime's own value, or empty
 * @param inForce the value in force, for people
 * @param accepts what may be given
 */
public record LimitLine(String key, String own, String inForce, String accepts) {}
