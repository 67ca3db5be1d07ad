package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A pull request, webhook or commit status that a user created at the stand-in.
 *
 * @param kind {@code pull}, {@code hook} or {@code status}
 * @param number the number for its kind and repository, starting at 1
 * @param repository {@code owner/name}
 * @param by the name of the user
 * @param body the body as received
 */
public record HostedObject(String kind, int number, String repository, String by, JsonNode body) {}
