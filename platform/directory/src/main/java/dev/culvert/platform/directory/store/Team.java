package dev.culvert.platform.directory.store;

import java.util.List;

/** A group of an account's users, which rules can name. */
public record Team(String id, String name, List<String> members) {
    public Team {
        members = List.copyOf(members);
    }
}
