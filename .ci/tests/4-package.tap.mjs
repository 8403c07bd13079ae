import '../../cli/package.test.ts';
