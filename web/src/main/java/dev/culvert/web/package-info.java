/**
 * The stack of web pages: layout, assets, log-in sessions, live updates. It knows no tunnels. README.md in
 * this module describes the style and how a page is added.
 */
@NullMarked
package dev.culvert.web;

import org.jspecify.annotations.NullMarked;
