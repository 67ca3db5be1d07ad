package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A pull request, webhook or commit status that somebody made at the stand-in.
 *
 * @param kind {@code pull}, {@code hook} or {@code status}
 * @param number counts from 1 for its kind and repository
 * @param repository {@code owner/name}
 * @param by the user's name
 * @param body as it was sent
 */
public record HostedObject(String kind, int number, String repository, String by, JsonNode body) {}
