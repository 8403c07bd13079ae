export { PERMISSIONS, type Permission } from '../../spec/permissions.ts';
