package dev.culvert.launcher.follow;

/**
 * An event of the admin API's stream.
 *
 * @param kind its kind, as {@code connected}
 * @param data its data, one line of JSON
 */
record StreamEvent(String kind, String data) {}
