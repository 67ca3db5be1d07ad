package dev.culvert.server.runtime;

import dev.culvert.certs.Sha256;

/**
 * The call that created a runtime. The same call again has the same result; another one with its name is a
 * conflict.
 *
 * @param registrar the name of the registrar's token, whose runtime it is; empty: an administrator's call
 * @param request SHA-256 of what the call asked for
 */
public record RuntimeOrigin(String registrar, Sha256 request) {}
