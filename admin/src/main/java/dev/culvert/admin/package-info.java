/** What the admin APIs of several parts share: tokens, roles, routes and responses. */
@NullMarked
package dev.culvert.admin;

import org.jspecify.annotations.NullMarked;
