package dev.culvert.platform.directory.store;

/**
 * The answer to a permission query.
 *
 * @param isValid whether the action is permitted
 * @param message the reason, for people
 */
public record Decision(boolean isValid, String message) {}
