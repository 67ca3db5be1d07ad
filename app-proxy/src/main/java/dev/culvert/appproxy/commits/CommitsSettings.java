package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.handlers.spi.HandlerException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the commits handler.
 *
 * @param cacheFolder the folder for parts of repositories between commits
 * @param cacheBytes the maximum size of these, 1 MiB or more
 * @param cacheRepositories the maximum number of cached repositories, 1..10000
 * @param maxFileBytes the maximum size of a file that is written, 1..100 MiB
 * @param maxCommitBytes the maximum size of all files of one commit, 1..100 MiB
 * @param maxFiles the maximum number of files of one commit, 1..10000
 * @param maxReadBytes the maximum size of a file that GraphQL returns, 1..16 MiB
 * @param maxRawBytes the maximum size of a file that the raw endpoint sends, 1..1 GiB
 * @param maxRawReads the maximum number of concurrent reads of the raw endpoint, 1..200
 * @param maxCommits the maximum number of concurrent commits, 1..256
 * @param maxWaiting the maximum number of commits that wait for one repository, 1..10000
 * @param maxAttempts the maximum number of attempts of a commit to a branch that moves, 1..100
 * @param timeout the limit for a connection to the Git provider, and between two bytes from it
 * @param sharedConfiguration the account's configuration repository; null: there is none
 */
public record CommitsSettings(
        @Setting(value = "Folder for what is kept of repositories between commits: for this process alone, emptied at its start", byDefault = "commits-cache") Path cacheFolder,
        @Setting(value = "What that may take on the disk; the newest state of a branch without its files is kept", byDefault = "1GiB", accepts = "1MiB or more") ByteSize cacheBytes,
        @Setting(value = "Repositories that something is kept of; those used longest ago are dropped", byDefault = "100", accepts = "1..10000") int cacheRepositories,
        @Setting(value = "Largest file that is committed", byDefault = "5MiB", accepts = "1..100MiB") ByteSize maxFileBytes,
        @Setting(value = "Largest sum of all files of a commit; a whole request has 8 MiB at most, in JSON and base64", byDefault = "5MiB", accepts = "1..100MiB") ByteSize maxCommitBytes,
        @Setting(value = "Files of a commit", byDefault = "500", accepts = "1..10000") int maxFiles,
        @Setting(value = "Largest file that readFile answers with; larger ones are read at /app-proxy/api/files", byDefault = "1MiB", accepts = "1..16MiB") ByteSize maxReadBytes,
        @Setting(value = "Largest file that /app-proxy/api/files sends", byDefault = "32MiB", accepts = "1..1GiB") ByteSize maxRawBytes,
        @Setting(value = "Files that it sends at the same time, shared by user; each has a copy in cacheFolder meanwhile", byDefault = "32", accepts = "1..200") int maxRawReads,
        @Setting(value = "Commits and reads at the same time, each of them of another repository", byDefault = "16", accepts = "1..256") int maxCommits,
        @Setting(value = "Commits that wait for one repository; beyond it they are answered 503", byDefault = "100", accepts = "1..10000") int maxWaiting,
        @Setting(value = "Attempts at a branch on which others commit meanwhile; after the last one: 409", byDefault = "10", accepts = "1..100") int maxAttempts,
        @Setting(value = "How long a Git provider may take to connect, and between two bytes", byDefault = "30s", accepts = "1s..10m") Duration timeout,
        @Nullable SharedConfiguration sharedConfiguration) {
    private static final long LARGEST = 100L << 20;
    private static final long LARGEST_READ = 16L << 20;
    private static final long LARGEST_RAW = 1L << 30;

    public CommitsSettings {
        within("cacheBytes", cacheBytes.bytes(), 1 << 20, Long.MAX_VALUE, "1MiB or more");
        within("cacheRepositories", cacheRepositories, 1, 10_000, "1..10000");
        within("maxFileBytes", maxFileBytes.bytes(), 1, LARGEST, "1..100MiB");
        within("maxCommitBytes", maxCommitBytes.bytes(), 1, LARGEST, "1..100MiB");
        within("maxFiles", maxFiles, 1, 10_000, "1..10000");
        within("maxReadBytes", maxReadBytes.bytes(), 1, LARGEST_READ, "1..16MiB");
        within("maxRawBytes", maxRawBytes.bytes(), 1, LARGEST_RAW, "1..1GiB");
        within("maxRawReads", maxRawReads, 1, 200, "1..200");
        within("maxCommits", maxCommits, 1, 256, "1..256");
        within("maxWaiting", maxWaiting, 1, 10_000, "1..10000");
        within("maxAttempts", maxAttempts, 1, 100, "1..100");
        within("timeout", timeout.toMillis(), 1000, 600_000, "1s..10m");
    }

    /** Makes settings with the defaults and a folder. */
    public static CommitsSettings of(Path cacheFolder, @Nullable SharedConfiguration sharedConfiguration) {
        return new CommitsSettings(cacheFolder, new ByteSize(1 << 30), 100, new ByteSize(5 << 20),
                new ByteSize(20 << 20), 500, new ByteSize(1 << 20), new ByteSize(32 << 20), 32, 16, 100, 10,
                Duration.ofSeconds(30), sharedConfiguration);
    }

    private static void within(String key, long value, long least, long most, String accepted) {
        if (value < least || value > most) {
            throw new ConfigException(key, accepted);
        }
    }

    /**
     * The account's shared configuration repository, for this runtime.
     *
     * @param repository its name
     * @param integration the Git provider; null: the first one
     * @param branch the branch of the configuration
     * @param path the folder of the configuration; empty: the repository's root
     * @param namespace the namespace of the runtime's Argo CD
     * @param project the Argo CD project of Git Sources
     * @param configurationRuntime whether this runtime applies the account's own objects, too
     * @param localSources beginnings of clone URLs of Git Sources that may be local
     */
    public record SharedConfiguration(
            @Setting(value = "The account's shared configuration repository", accepts = "owner/name") String repository,
            @Setting("The Git provider's name under handlers.repositories.integrations; the first one by default") @Nullable String integration,
            @Setting(value = "The branch that the configuration is on", byDefault = "main") String branch,
            @Setting(value = "The folder in the repository below which the configuration is; by default its root") @Nullable String path,
            @Setting(value = "Namespace of the runtime's Argo CD", byDefault = "argocd") String namespace,
            @Setting(value = "Argo CD project of new Git Sources: what it allows, they may deploy", byDefault = "default", accepts = "the name of an AppProject") String project,
            @Setting(value = "Whether this runtime also applies resources/configurations: products, promotion flows, policies and templates", byDefault = "false") boolean configurationRuntime,
            @Setting(value = "Beginnings of clone URLs that Git Sources may have although they name files or addresses of the cluster's own machines", accepts = "as file:/srv/git/ or http://127.0.0.1:3000/", byDefault = "") List<String> localSources) {
        /** Makes settings without local sources. */
        public SharedConfiguration(String repository, @Nullable String integration, String branch,
                @Nullable String path, String namespace, String project, boolean configurationRuntime) {
            this(repository, integration, branch, path, namespace, project, configurationRuntime, List.of());
        }

        public SharedConfiguration {
            localSources = List.copyOf(localSources);
            try {
                new Branch(branch);
                if (path != null) {
                    new FilePath(path);
                }
            } catch (HandlerException e) {
                throw new ConfigException("branch, path",
                        "a branch's name, and a relative path without dot segments");
            }
        }
    }
}
