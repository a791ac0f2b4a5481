// The path under which a handler is mounted in another server.

/** The path of a request below the base path. The server in front may have removed the base path already. */
export function pathBelow({ pathname }: URL, basePath: string): string {
  const isBelow = basePath !== '' && (pathname === basePath || pathname.startsWith(`${basePath}/`))
  return isBelow ? pathname.slice(basePath.length) || '/' : pathname
}
