package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.repositories.Integration;

/**
 * A repository of a Git provider.
 *
 * @param integration the provider
 * @param repository {@code owner/name}, valid for the provider's integration
 */
record Target(Integration integration, String repository) {
    Target {
        integration.cloneUrl(repository);
    }

    /** A key that is unique to this repository. */
    String key() {
        return integration.name() + "\n" + repository;
    }

    @Override
    public String toString() {
        return repository;
    }
}
