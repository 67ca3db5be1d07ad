package dev.culvert.server.page;

import dev.culvert.server.store.AuditEntry;
import java.util.List;

/**
 * A page of the audit log.
 *
 * @param entries the changes, the newest first
 * @param isLater whether there are newer ones
 * @param next the path of the older ones, or empty
 */
public record AuditList(List<AuditEntry> entries, boolean isLater, String next) {}
