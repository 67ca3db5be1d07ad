/**
 * The durable inbox in front of webhooks: stores each with one fsync before anything else, answers its caller, and delivers
 * it, in order per event source, until that has answered. Read {@link dev.culvert.inbox.Inbox} first, then
 * {@link dev.culvert.inbox.intake.InboxRelay}, which takes webhooks in; {@code CommitThread} makes them durable,
 * {@code DispatchPlan} says which is next, {@code Attempt} sends it.
 *
 * <p>Four kinds of threads: callers' and attempts' event loops, which never block; one thread that writes the database; one
 * that decides what is sent next; a few that read the database and read and write spool files.
 */
@NullMarked
package dev.culvert.inbox;

import org.jspecify.annotations.NullMarked;
