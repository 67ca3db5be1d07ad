package dev.culvert.appproxy.repositories.provider;

import java.net.URI;
import java.util.List;

/**
 * A webhook to register. Prints without its secret.
 *
 * @param repository {@code owner/name}
 * @param url the URL that the provider is to call
 * @param secret the secret that it signs with (GitHub) or sends (GitLab)
 * @param events {@code push}, {@code pull_request}, {@code release}
 */
public record NewWebhook(String repository, URI url, String secret, List<String> events) {
    public NewWebhook {
        events = List.copyOf(events);
    }

    @Override
    public String toString() {
        return "NewWebhook[repository=" + repository + ", events=" + events + ", secret=***]";
    }
}
