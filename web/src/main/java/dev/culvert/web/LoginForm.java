package dev.culvert.web;

import org.jspecify.annotations.Nullable;

/**
 * What the log-in page shows.
 *
 * @param server what one logs in to, or empty
 * @param to the path to which a log-in leads
 * @param problem why the last log-in failed, or empty
 * @param hint where the token is
 * @param unencrypted why there is no form, and what to do; null: there is one
 */
public record LoginForm(String server, String to, String problem, String hint,
        @Nullable String unencrypted) {}
