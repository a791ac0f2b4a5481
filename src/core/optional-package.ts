// Packages that only some surfaces need; they are optional dependencies and load when first used. Each is imported inside a `try`, because the
// bundlers of applications leave out what they do not find there, and refuse it elsewhere.
import { ErrandError } from './errors.ts'

/**
 * What to throw when the import of an optional package has failed: NOT_OFFERED { package } when it is not installed, the error itself otherwise.
 * `doing` names the use of the package and begins the message.
 */
export function notInstalled(error: unknown, packageName: string, doing: string): unknown {
  if (!isMissingPackage(error, packageName)) return error
  return new ErrandError(
    'NOT_OFFERED',
    `${doing} needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
    { package: packageName },
    error,
  )
}

/** True when the package itself or a module of it is missing, and not one of its own dependencies. */
export function isMissingPackage(error: unknown, packageName: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // The second is that of CommonJS, and of what webpack puts in place of an import that it did not find.
  if ((code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') || typeof message !== 'string') return false
  return message.includes(`'${packageName}'`) || message.includes(`'${packageName}/`)
}
