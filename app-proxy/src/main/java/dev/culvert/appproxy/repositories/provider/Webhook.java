package dev.culvert.appproxy.repositories.provider;

/**
 * A registered webhook.
 *
 * @param id its id at the provider
 * @param url the URL that the provider calls
 */
public record Webhook(String id, String url) {}
