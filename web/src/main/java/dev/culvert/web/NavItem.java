package dev.culvert.web;

/**
 * An entry of the navigation.
 *
 * @param path the page's path
 * @param label its name
 */
public record NavItem(String path, String label) {}
