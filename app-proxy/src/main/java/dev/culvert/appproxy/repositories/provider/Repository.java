package dev.culvert.appproxy.repositories.provider;

import org.jspecify.annotations.Nullable;

/**
 * A repository as its provider tells it; the names are those of the platform's GraphQL type.
 *
 * @param id the provider's id of it
 * @param provider the kind, as {@code GITHUB}
 * @param fullName {@code owner/name}
 * @param cloneUrl for Git over HTTPS
 * @param sshUrl for Git over SSH, or null where there is none
 * @param defaultBranch null for an empty repository and where the provider does not tell
 * @param isRepoPrivate whether not everybody can read it
 * @param isRepoAdmin whether the token's owner administers it
 * @param webUrl its page for people, or null where there is none
 */
public record Repository(String id, String provider, String fullName, String cloneUrl,
        @Nullable String sshUrl,
        @Nullable String defaultBranch, boolean isRepoPrivate, boolean isRepoAdmin,
        @Nullable String webUrl) {}
