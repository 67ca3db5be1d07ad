/** SQLite files: schema versions, the lease of one process, and copies for backups. */
@NullMarked
package dev.culvert.store;

import org.jspecify.annotations.NullMarked;
