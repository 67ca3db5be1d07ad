package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.repositories.Integration;

/**
 * A repository of a Git provider.
 *
 * @param integration the provider
 * @param repository {@code owner/name}, which the provider's integration takes for a name
 */
record Target(Integration integration, String repository) {
    Target {
        integration.cloneUrl(repository);
    }

    /** What tells it from all others. */
    String key() {
        return integration.name() + "\n" + repository;
    }

    @Override
    public String toString() {
        return repository;
    }
}
