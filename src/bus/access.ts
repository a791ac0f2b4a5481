// How far an ability reaches, in one of four words: what whoever hands out credentials decides by, without knowing every ability.

/**
 * `read` changes nothing; `create` makes something new; `control` changes what is there; `admin` is all the rest: what reaches beyond
 * tasks and their memory, and every ability that says nothing about itself.
 */
export const accessClasses = ['read', 'create', 'control', 'admin'] as const
export type Access = (typeof accessClasses)[number]

/** `admin` holds all; of the others none holds another. */
export function grants(scopes: readonly Access[], access: Access): boolean {
  return scopes.includes(access) || scopes.includes('admin')
}
