/**
 * Git providers over their REST APIs, and plain folders of bare repositories: listing, pull requests,
 * webhooks and commit statuses. Start with {@link dev.culvert.appproxy.repositories.Integrations}.
 */
@NullMarked
package dev.culvert.appproxy.repositories;

import org.jspecify.annotations.NullMarked;
