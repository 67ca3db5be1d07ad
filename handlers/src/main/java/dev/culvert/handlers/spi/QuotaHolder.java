package dev.culvert.handlers.spi;

import java.security.Principal;

/** An authenticated caller that shares places with others of its account. */
public interface QuotaHolder extends Principal {
    /** The key of the account whose share of places the caller's calls use. */
    String quotaKey();
}
