package dev.culvert.platform.directory.store;

/**
 * The answer to a question.
 *
 * @param isValid whether they may
 * @param message why, for people
 */
public record Decision(boolean isValid, String message) {}
