package dev.culvert.platform.directory.store;

import java.util.List;

/** Users of an account that rules name together. */
public record Team(String id, String name, List<String> members) {
    public Team {
        members = List.copyOf(members);
    }
}
