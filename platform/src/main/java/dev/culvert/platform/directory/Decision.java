package dev.culvert.platform.directory;

/**
 * The answer to a question.
 *
 * @param isValid whether they may
 * @param message why, for people
 */
record Decision(boolean isValid, String message) {}
