package dev.culvert.web;

import reactor.core.publisher.Mono;

/** Judges the credentials of a log-in. */
@FunctionalInterface
public interface LoginCheck {
    /** The person whom a token belongs to; empty for an unknown one. Compares in constant time. */
    Mono<WebUser> user(String token);
}
