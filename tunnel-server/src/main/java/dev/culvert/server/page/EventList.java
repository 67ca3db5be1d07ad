package dev.culvert.server.page;

import java.util.List;

/**
 * What the list of events shows.
 *
 * @param lines the events, the newest first
 * @param livePath the path of the live updates
 */
public record EventList(List<EventRow> lines, String livePath) {}
