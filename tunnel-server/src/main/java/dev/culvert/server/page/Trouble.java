package dev.culvert.server.page;

/**
 * Something that is wrong.
 *
 * @param bad whether requests fail because of it now
 * @param what what it is, in words
 * @param todo what to do about it
 * @param path the page that shows it; empty: none
 */
public record Trouble(boolean bad, String what, String todo, String path) {}
