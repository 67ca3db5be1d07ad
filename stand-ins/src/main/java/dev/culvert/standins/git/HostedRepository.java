package dev.culvert.standins.git;

/**
 * A repository of the stand-in.
 *
 * @param id counts from 1 in the order in which they were added
 * @param owner whose it is: a user, group, workspace or project
 * @param name its name below the owner
 * @param isPrivate whether not everybody may read it
 */
public record HostedRepository(int id, String owner, String name, boolean isPrivate) {
    /** {@code owner/name}. */
    public String fullName() {
        return owner + "/" + name;
    }
}
