package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One Git provider, or one folder of bare repositories.
 *
 * @param name its name in calls
 * @param kind the kind of its API
 * @param apiUrl the root of its REST API; null: that of the public provider of the kind
 * @param webUrl the prefix of clone URLs; null: derived from {@code apiUrl}
 * @param ca a file of authorities trusted in addition to the public ones
 * @param workspace for Bitbucket Cloud, the only workspace to list; null: all that the user is a member of
 * @param folder the folder of bare repositories, for kind {@code folder}
 */
public record IntegrationConfig(
        @Setting(value = "What calls name it by", accepts = "letters, digits, hyphens, at most 63") String name,
        @Setting("Which REST API it has; folder is for plain bare repositories") ProviderKind kind,
        @Setting(value = "Root of its REST API; needed where the provider is not the public one", accepts = "https://host/path without slash at the end, as https://git.example.com/api/v4") @Nullable URI apiUrl,
        @Setting(value = "What clone URLs begin with; else the host of apiUrl", accepts = "https://host[:port][/path]") @Nullable URI webUrl,
        @Setting("PEM file of authorities that are believed beside the public ones") @Nullable Path ca,
        @Setting("Bitbucket Cloud: the workspace to list; else all that the user is a member of") @Nullable String workspace,
        @Setting("Kind folder: where the bare repositories <name>.git or <owner>/<name>.git are") @Nullable Path folder) {
    private static final Map<ProviderKind, URI> PUBLIC = Map.of(ProviderKind.GITHUB,
            URI.create("https://api.github.com"), ProviderKind.GITLAB,
            URI.create("https://gitlab.com/api/v4"),
            ProviderKind.BITBUCKET, URI.create("https://api.bitbucket.org/2.0"));
    private static final Map<String, String> API_HOSTS = Map.of("api.github.com", "github.com",
            "api.bitbucket.org", "bitbucket.org");

    public IntegrationConfig {
        if (!name.matches("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")) {
            throw new ConfigException("name", "letters, digits, hyphens, at most 63");
        }
        boolean isFolder = kind == ProviderKind.FOLDER;
        if (isFolder == (folder == null)) {
            throw new ConfigException("folder", "a folder with kind folder, none with the others");
        }
        if (!isFolder && apiUrl == null && !PUBLIC.containsKey(kind)) {
            throw new ConfigException("apiUrl", "the root of the REST API, for " + kind.key());
        }
        checked("apiUrl", apiUrl);
        checked("webUrl", webUrl);
    }

    /** Makes the configuration of a provider at an address. */
    public static IntegrationConfig provider(String name, ProviderKind kind, URI apiUrl, @Nullable Path ca) {
        return new IntegrationConfig(name, kind, apiUrl, null, ca, null, null);
    }

    /** Makes the configuration of a folder of bare repositories. */
    public static IntegrationConfig folder(String name, Path folder) {
        return new IntegrationConfig(name, ProviderKind.FOLDER, null, null, null, null, folder);
    }

    /** The root of the REST API, without slash at the end. Not for folders. */
    URI api() {
        URI known = apiUrl != null ? apiUrl : PUBLIC.get(kind);
        if (known == null) {
            throw new IllegalStateException("a folder has no API");
        }
        return known;
    }

    /** The prefix of clone URLs, without slash at the end. */
    String web() {
        if (webUrl != null) {
            return webUrl.toString();
        }
        URI api = api();
        String host = API_HOSTS.getOrDefault(api.getHost(), api.getHost());
        String port = api.getPort() < 0 ? "" : ":" + api.getPort();
        String path = kind == ProviderKind.BITBUCKET_SERVER
                ? api.getRawPath().replaceFirst("/rest/api/.*", "") + "/scm"
                : "";
        return api.getScheme() + "://" + host + port + path;
    }

    private static void checked(String key, @Nullable URI uri) {
        boolean fits = uri == null || (uri.getHost() != null && uri.getScheme().matches("https?")
                && uri.getRawUserInfo() == null && uri.getRawQuery() == null && uri.getRawFragment() == null
                && !uri.toString().endsWith("/"));
        if (!fits) {
            throw new ConfigException(key, "https://host[:port][/path] without slash at the end");
        }
    }
}
