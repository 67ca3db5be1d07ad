package dev.culvert.appproxy.repositories.provider;

/**
 * A webhook that was registered.
 *
 * @param id the provider's id of it
 * @param url what the provider calls
 */
public record Webhook(String id, String url) {}
