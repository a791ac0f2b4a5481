// Packages that only some surfaces need; they are optional dependencies and load when first used.
import { ErrandError } from './errors.ts'

/**
 * Returns what `load` imports. `doing` names the use of the package and begins the error message.
 * @throws ErrandError NOT_OFFERED { package } when it is not installed; other errors of `load` unchanged.
 */
export async function loadOptional<T>(packageName: string, doing: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissingPackage(error, packageName)) throw error
    throw new ErrandError(
      'NOT_OFFERED',
      `${doing} needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      { package: packageName },
      error,
    )
  }
}

/** True when the package itself or a module of it is missing, and not one of its own dependencies. */
export function isMissingPackage(error: unknown, packageName: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' || typeof message !== 'string') return false
  return message.includes(`'${packageName}'`) || message.includes(`'${packageName}/`)
}
