package dev.culvert.standins.git;

/**
 * A repository of the stand-in.
 *
 * @param id the id, starting at 1, in the order of addition
 * @param owner the owner: a user, group, workspace or project
 * @param name its name below the owner
 * @param isPrivate whether only authorised users may read it
 */
public record HostedRepository(int id, String owner, String name, boolean isPrivate) {
    /** {@code owner/name}. */
    public String fullName() {
        return owner + "/" + name;
    }
}
