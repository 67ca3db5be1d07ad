package dev.culvert.appproxy.argo.api;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.config.UriHost;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The address and credentials of an API.
 *
 * @param url its base URL, {@code http} or {@code https}
 * @param tokenFile the file of the bearer token; read for every call
 * @param ca certificates to trust; null for those that Java trusts
 */
public record ApiSettings(
        @Setting(value = "Base URL of the API", accepts = "http:// or https:// URL") URI url,
        @Setting("File of the bearer token, read for every call; without it none is sent") @Nullable Path tokenFile,
        @Setting("PEM file of certificates to trust; without it those that Java trusts") @Nullable Path ca) {
    public ApiSettings {
        String scheme = url.getScheme();
        if (UriHost.of(url) == null || !("http".equals(scheme) || "https".equals(scheme))
                || url.getUserInfo() != null || url.getQuery() != null) {
            throw new ConfigException("url", "an http:// or https:// URL without user and query");
        }
    }

    /** Without a token, for an API with a certificate that Java trusts. */
    public static ApiSettings of(URI url) {
        return new ApiSettings(url, null, null);
    }
}
