package dev.culvert.web;

/**
 * What the log-in page shows.
 *
 * @param to the path to which a log-in leads
 * @param problem why the last log-in failed, or empty
 * @param hint where the token is
 */
public record LoginForm(String to, String problem, String hint) {}
