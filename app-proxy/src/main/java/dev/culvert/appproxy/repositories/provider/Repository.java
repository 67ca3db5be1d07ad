package dev.culvert.appproxy.repositories.provider;

import org.jspecify.annotations.Nullable;

/**
 * A repository as reported by its provider. The names are those of the platform's GraphQL type.
 *
 * @param id its id at the provider
 * @param provider the kind, as {@code GITHUB}
 * @param fullName {@code owner/name}
 * @param cloneUrl the URL for Git over HTTPS
 * @param sshUrl the URL for Git over SSH, or null if there is none
 * @param defaultBranch the default branch; null for an empty repository, or if the provider does not report
 *        it
 * @param isRepoPrivate whether the repository is not public
 * @param isRepoAdmin whether the token's owner administers it
 * @param webUrl its page for people, or null if there is none
 */
public record Repository(String id, String provider, String fullName, String cloneUrl,
        @Nullable String sshUrl,
        @Nullable String defaultBranch, boolean isRepoPrivate, boolean isRepoAdmin,
        @Nullable String webUrl) {}
