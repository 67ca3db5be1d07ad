package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeResponse;

/** The header fields that protect pages. */
final class PageFields {
    /**
     * A page loads its own files, connects to its own server, can't be framed, and has no inline script or
     * style.
     */
    static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

    private PageFields() {}

    /** Adds the fields of every response. */
    static EdgeResponse.Http common(EdgeResponse.Http response) {
        return response.with("x-content-type-options", "nosniff")
                .with("cross-origin-resource-policy", "same-origin");
    }

    /** Adds the fields of a page or of a part of one. */
    static EdgeResponse.Http page(EdgeResponse.Http response) {
        return common(response).with("content-security-policy", POLICY)
                .with("cross-origin-opener-policy", "same-origin")
                // With no-referrer, browsers send "Origin: null" along with forms.
                .with("referrer-policy", "same-origin")
                .with("cache-control", "no-store");
    }
}
