// Packages that only some surfaces need, and that whoever does not use these need not have installed.
import { ErrandError } from './errors.ts'

/**
 * What `load` imports. `doing` says what the package is needed for, as the beginning of a sentence.
 * @throws ErrandError NOT_OFFERED { package } when it is not installed; whatever else `load` throws.
 */
export async function loadOptional<T>(packageName: string, doing: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, packageName)) throw error
    throw new ErrandError(
      'NOT_OFFERED',
      `${doing} needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      { package: packageName },
      error,
    )
  }
}

/** The package itself, or a part of it; not one that it needs and lacks. */
function isMissing(error: unknown, packageName: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code !== 'ERR_MODULE_NOT_FOUND' || typeof message !== 'string') return false
  return message.includes(`'${packageName}'`) || message.includes(`'${packageName}/`)
}
