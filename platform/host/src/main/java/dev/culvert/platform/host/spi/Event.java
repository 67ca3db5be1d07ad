package dev.culvert.platform.host.spi;

import org.jspecify.annotations.Nullable;

/**
 * A change that a module has committed.
 *
 * @param seq increases with each event of any account
 * @param account the id of the account that it belongs to
 * @param module the module that changed something
 * @param kind the kind of thing that changed, in the module's words
 * @param subject what changed, or the only user that it concerns; null: anything of the kind
 */
public record Event(long seq, String account, String module, String kind, @Nullable String subject) {}
