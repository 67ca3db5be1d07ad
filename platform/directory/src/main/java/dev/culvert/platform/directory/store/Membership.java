package dev.culvert.platform.directory.store;

import java.util.Set;

/**
 * What decides about a user.
 *
 * @param admin whether they may do anything
 * @param teams the ids of their teams; none for administrators, who need none
 */
public record Membership(boolean admin, Set<String> teams) {
    public Membership {
        teams = Set.copyOf(teams);
    }
}
